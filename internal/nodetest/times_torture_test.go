//go:build torture

package nodetest_test

import "time"

// stillFor is how long a node stands still.
const stillFor = 60 * time.Second
