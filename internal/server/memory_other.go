// Other systems decide themselves which pages of the program's own file stay in memory.

//go:build !linux

package server

// forgetProgram does nothing: only Linux says which areas are the program's file.
func forgetProgram() error { return nil }
