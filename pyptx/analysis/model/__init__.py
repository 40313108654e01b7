"""Performance model: predicts the time of a launch from its machine code and its work, without a GPU."""

__all__ = ["MODEL_VERSION"]

# Increment when predictions change: stored modeled times are valid for one version only. tests/analysis/test_model_version.py
# compares predictions with those recorded for this version.
MODEL_VERSION = 16
