package contract

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// match reports whether an escaped path is one of the pattern, with what stands
// in the place of its parameters.
func match(pattern, path string) (map[string]string, bool) {
	wanted, given := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(wanted) != len(given) {
		return nil, false
	}
	parameters := map[string]string{}
	for i, segment := range wanted {
		plain, err := url.PathUnescape(given[i])
		if err != nil {
			return nil, false
		}
		name, isParameter := strings.CutPrefix(segment, "{")
		switch {
		case isParameter && plain != "":
			parameters[strings.TrimSuffix(name, "}")] = plain
		case isParameter || segment != plain:
			return nil, false
		}
	}
	return parameters, true
}

func decode(content []byte, into *any) error {
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("the answer is no JSON: %w", err)
	}
	return nil
}

// shorten makes a body fit into the line of a failure.
func shorten(content []byte) []byte {
	const most = 2000
	if len(content) > most {
		return append(content[:most:most], "…"...)
	}
	return content
}
