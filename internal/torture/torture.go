// Package torture kills the program in the middle of its work, again and again,
// and counts what is missing afterwards. Its tests take seconds; with the build
// tag torture, which `make torture` sets, they take minutes and their figures
// are those of docs/reliability.md.
package torture
