"""scikit-learn's own test modules, from the installed package, with other objects in the place of its own."""

import importlib.util
import sys

import pytest


def load(name, owner, **replaced):
    """A test module of scikit-learn, as if the named attributes of ``owner`` were these."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        pytest.skip("this scikit-learn comes without its tests", allow_module_level=True)
    spec = importlib.util.spec_from_file_location(name.replace(".", "_"), spec.origin)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for attribute, value in replaced.items():
            patch.setattr(owner, attribute, value)
        spec.loader.exec_module(module)
    return module


def chosen_tests(module, excluded):
    """The tests of a module by name."""
    return {
        name: test
        for name, test in vars(module).items()
        if name.startswith("test_") and name not in excluded
    }
