package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// duration is a time.Duration that can also be given in days: 30d.
type duration time.Duration

// UnmarshalText reads a duration.
func (d *duration) UnmarshalText(text []byte) error {
	const day = 24 * time.Hour
	if number, ok := strings.CutSuffix(string(text), "d"); ok {
		days, err := strconv.ParseInt(number, 10, 32)
		if err != nil || days < 0 || days > 36_500 {
			return fmt.Errorf("%q is not a number of days such as 30d", text)
		}
		*d = duration(time.Duration(days) * day)
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is not a duration such as 30d, 12h or 90m", text)
	}
	*d = duration(parsed)
	return nil
}
