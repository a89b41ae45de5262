// What has elapsed where the system does not count the time for which it sleeps.

package clock

import "time"

// started is when the program began.
//
//nolint:gochecknoglobals,forbidigo // it is the same for all clocks, and never set
var started = time.Now()
