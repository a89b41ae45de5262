// Package powerloss takes the power away from the program in the middle of its
// work, and looks at what is left. Its tests run the program as a process whose
// data folder lies on a disk that forgets whatever was not synced.
package powerloss
