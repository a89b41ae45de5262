// Package hostile attacks the whole program as strangers may: with messages that no
// honest client writes, through the sandbox's platform and on both databases. It has
// tests alone.
package hostile
