"""Six cases on real data, each a module: `python -m examples.gallery.admissions --out FOLDER` writes its pictures.

Some data ship with streed or scikit-learn. The others are read from `--data FOLDER`, which has the files that STreeD
was measured on (https://github.com/AlgTUDelft/pystreed) in folders such as `fairness`; credit falls back on OpenML.
"""
