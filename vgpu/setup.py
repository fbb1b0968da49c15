"""This folder is the package itself, so that it can be imported from a checkout as it stands."""

from setuptools import find_packages, setup

names = find_packages(exclude=["tests", "tests.*", "build", "build.*"])
setup(package_dir={"vgpu": "."}, packages=["vgpu", *(f"vgpu.{name}" for name in names)])
