"""Six cases on real data, each a module: `python -m examples.gallery.admissions --out FOLDER` writes its pictures.

Some data ship with streed or scikit-learn. The others are read from `--data FOLDER`, which has the files of the benchmarks
of STreeD (https://github.com/AlgTUDelft/pystreed) in folders such as `fairness` and `policy`; credit falls back on OpenML.
"""
