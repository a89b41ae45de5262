// What a room gives to its pages.

package web

import "io/fs"

// Files are a room's templates (*.html), translations (locale/*.json) and files for
// browsers (assets/*), embedded into the program.
type Files = fs.FS
