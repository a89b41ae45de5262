//go:build !torture

package nodetest_test

import "time"

// failFor is how long a node fails.
const failFor = 28 * time.Second
