// Package docs holds the guides for users, so that the program can serve them
// where there is nothing but itself.
package docs

import "embed"

// Guides are the pages in this folder, with their translations, the recipes and what they import, their pictures and the receivers of webhooks that they show.
//
//go:embed *.md pt-BR/*.md pt-BR/recipes/*.md recipes/*.md recipes/*.json decisions/*.md pictures/* webhooks/*/receiver.*
var Guides embed.FS
