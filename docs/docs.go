// Package docs holds the guides for users, so that the program can serve them
// where there is nothing but itself.
package docs

import "embed"

// Guides are guide.md, webhooks.md and events.md.
//
//go:embed guide.md webhooks.md events.md
var Guides embed.FS
