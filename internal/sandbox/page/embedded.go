// The page's templates, translations, style and script.

package page

import "embed"

// Files are what the page is made of, for those who put several rooms' files together.
//
//go:embed *.html assets locale
var Files embed.FS
