//go:build !linux

// Who uses a SQLite file, on systems where it can't be seen without changing it.

package movein

// inUse says nothing: only a change of the file while it is copied is noticed.
func inUse(string) (why string, err error) { return "", nil }
