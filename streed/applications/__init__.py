"""What the applications of the papers bring beside their objectives: cost tables, hazards, teachers, policies."""
