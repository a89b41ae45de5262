//go:build !race

package media

// apartFactor is how much more memory a process takes whose accesses are watched: this one's are not.
const apartFactor = 1
