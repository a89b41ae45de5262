// Package hostile attacks the whole program as strangers can: with messages that no
// honest client sends, through the sandbox and on both databases. It contains only
// tests.
package hostile
