// What programs have asked for in the languages of other tools.

package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// refusedLately is how long a refused operation is reported.
	refusedLately = 7 * 24 * time.Hour
	// spokenSince is the version of the tables that knows of dialects.
	spokenSince = 32
)

// dialects says which programs speak the language of another tool, and what was refused to them lately. Databases of
// versions without dialects have nothing of it.
func (e *examination) dialects(ctx context.Context) []Finding {
	const name = "dialects"
	if e.database == nil || e.version < spokenSince {
		return e.unopened(name)
	}
	keys, err := e.database.Spoken(ctx)
	if err != nil {
		return []Finding{warning(name, "see to the database first", "they can't be read: %s", err)}
	}
	var findings []Finding
	programs := map[string]int{} // keys by dialect
	for _, key := range keys {
		for _, spoken := range key.Spoken {
			programs[spoken.Dialect]++
			for _, refused := range spoken.Refused {
				if e.config.Now().Sub(refused.At) <= refusedLately {
					findings = append(findings, warning(name, refused.Reason, "%s of the key %q (%s) was refused in the dialect %s at %s",
						refused.Operation, key.Name, key.ID, spoken.Dialect, refused.At.UTC().Format(time.RFC3339)))
				}
			}
		}
	}
	if len(programs) == 0 {
		return append(findings, ok(name, "no program has spoken one"))
	}
	var counts []string
	for _, dialect := range slices.Sorted(maps.Keys(programs)) {
		counts = append(counts, fmt.Sprintf("%s with %d", dialect, programs[dialect]))
	}
	return append(findings, ok(name, "keys that they are spoken with: %s", strings.Join(counts, ", ")))
}
