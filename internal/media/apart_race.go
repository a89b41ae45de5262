//go:build race

package media

// apartFactor is how much more memory a process takes whose accesses are watched.
const apartFactor = 8
