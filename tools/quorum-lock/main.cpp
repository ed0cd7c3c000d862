#include "quorum-lock/program.hpp"

int main(int argc, char** argv) { return redlock::cli::run_program(argc, argv); }
