// The icons of the pages.

package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed vendored/icons/*.svg
var iconFiles embed.FS

// drawing finds what an icon's file draws.
var drawing = regexp.MustCompile(`(?s)<svg[^>]*>(.*)</svg>`)

// readIcons reads the drawings of all icons, by their names.
func readIcons() (map[string]template.HTML, error) {
	files, err := fs.Glob(iconFiles, "vendored/icons/*.svg")
	if err != nil {
		return nil, fmt.Errorf("web: find icons: %w", err)
	}
	icons := make(map[string]template.HTML, len(files))
	for _, file := range files {
		content, err := fs.ReadFile(iconFiles, file)
		if err != nil {
			return nil, fmt.Errorf("web: read icon: %w", err)
		}
		found := drawing.FindSubmatch(content)
		if found == nil {
			return nil, fmt.Errorf("web: %s is no icon", file)
		}
		drawn := strings.Join(strings.Fields(string(found[1])), " ")
		icons[strings.TrimSuffix(path.Base(file), ".svg")] = template.HTML(drawn) //nolint:gosec // our own files
	}
	return icons, nil
}

// icon draws an icon beside a text that says the same; screen readers skip it.
func (s *Site) icon(name string) (template.HTML, error) {
	icons, err := s.icons()
	if err != nil {
		return "", err
	}
	drawn, ok := icons[name]
	if !ok {
		return "", fmt.Errorf("web: there is no icon %s", name)
	}
	return `<svg class="icon" aria-hidden="true" viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" ` +
		`stroke-width="2" stroke-linecap="round" stroke-linejoin="round">` + drawn + `</svg>`, nil
}
