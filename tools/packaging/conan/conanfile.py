"""A recipe of Conan 2 that builds the tree it lies in: conan create tools/packaging/conan"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.gnu import PkgConfigDeps

# From the folder of this file to that of the repository.
ROOT = os.path.join("..", "..", "..")


class Redlock(ConanFile):
    name = "redlock"
    description = "Distributed locks over independent Redis masters"
    license = "MIT"
    topics = ("redis", "redlock", "distributed-lock")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, ROOT, "include", "redlock", "version.hpp"))
        numbers = [
            re.search(rf"^#define REDLOCK_VERSION_{part} (\d+)$", text, re.MULTILINE).group(1)
            for part in ("MAJOR", "MINOR", "PATCH")
        ]
        self.version = ".".join(numbers)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        # Installed with the library: the man page, and programs from pages and tests as examples.
        installed = ("tools/man/*", "tools/docs/C.md", "tests/c/*", "tests/examples/*")
        testing = ("tools/common/*", "tools/testing/*")
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "lib/*", *installed, *testing):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os == "Windows":
            raise ConanInvalidConfiguration("redlock is for POSIX systems")

    def requirements(self):
        self.requires("hiredis/[>=0.14]")
        self.requires("libuv/[>=1.44 <2]")
        self.requires("openssl/[>=3 <4]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25 <4]")
        if not self.conf.get("tools.gnu:pkg_config", check_type=str):
            self.tool_requires("pkgconf/[>=2 <3]")

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["REDLOCK_SHARED"] = bool(self.options.shared)
        toolchain.cache_variables["REDLOCK_STATIC"] = not self.options.shared
        toolchain.cache_variables["REDLOCK_BUILD_TOOLS"] = False
        toolchain.cache_variables["REDLOCK_BUILD_TESTS"] = False
        toolchain.cache_variables["REDLOCK_NODE"] = "OFF"
        toolchain.cache_variables["REDLOCK_INSTALL"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["redlock"]
        self.cpp_info.set_property("cmake_file_name", "redlock")
        self.cpp_info.set_property("pkg_config_name", "redlock")
        target = "redlock::redlock" if self.options.shared else "redlock::redlock_static"
        self.cpp_info.set_property("cmake_target_name", target)
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
