"""What tests share: independent computations, cases of bad input, consumers of scikit-learn."""
