// Package docs holds the guides for users, so that the program can serve them
// where there is nothing but itself.
package docs

import "embed"

// Guides are the pages in this folder, with their translations, the recipes, their pictures and the receivers of webhooks that they show.
//
//go:embed *.md pt-BR/*.md recipes/*.md decisions/*.md pictures/* webhooks/*/receiver.*
var Guides embed.FS
