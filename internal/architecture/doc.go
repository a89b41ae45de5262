// Package architecture checks that the code is as ARCHITECTURE.md says: who
// imports whom, which technology is where, how big a room may be. It has nothing
// but tests.
package architecture
