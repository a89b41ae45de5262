// Package caches holds what a session remembers in memory, within bounds: groups, the
// contacts that it follows, and sets of people.
package caches
