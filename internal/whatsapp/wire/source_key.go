package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// stamp is a time as it stands in a source key.
func stamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// digest is a short text that stands for long ones.
func digest(values ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(values, "\x00")))
	return hex.EncodeToString(sum[:8])
}
