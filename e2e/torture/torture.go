// Package torture kills the program in the middle of its work, again and again, and counts
// what is missing afterwards. Its tests take seconds. With the build tag torture, which
// `make torture` sets, they take minutes and produce the figures in docs/reliability.md.
package torture
