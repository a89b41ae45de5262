package contract

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// match reports whether an escaped path matches the pattern, and returns the values of its
// parameters.
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

// withoutNulls removes fields that are null from a JSON body. The API treats them as
// absent, which a schema can't express.
func withoutNulls(body []byte) []byte {
	var value map[string]any
	if json.Unmarshal(body, &value) != nil || !dropNulls(value) {
		return body
	}
	dropped, err := json.Marshal(value)
	if err != nil {
		return body
	}
	return dropped
}

func dropNulls(object map[string]any) (dropped bool) {
	for name, value := range cases.Sorted(object) {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
			dropped = true
		case isObject:
			dropped = dropNulls(inner) || dropped
		}
	}
	return dropped
}

func decode(content []byte, into *any) error {
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	return nil
}

// shorten shortens a body for the message of a failure.
func shorten(content []byte) []byte {
	const most = 2000
	if len(content) > most {
		return append(content[:most:most], "…"...)
	}
	return content
}
