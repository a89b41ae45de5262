// Whether a passkey is asked for when a device is linked.

package account

import (
	"encoding/json"
	"time"
)

// PasskeyRule says whether and how the platform asks for a passkey when the account links a
// device. The zero value asks for none.
type PasskeyRule struct {
	Needed  bool `json:"needed"`
	Compare bool `json:"compare"` // a person compares the codes also where the client has proven itself
	Seconds int  `json:"seconds"` // how long the question may be answered
}

// Limit is how long the question may be answered.
func (r PasskeyRule) Limit() time.Duration { return time.Duration(r.Seconds) * time.Second }

func (r *PasskeyRule) parse(text string) error {
	if text == "" {
		*r = PasskeyRule{}
		return nil
	}
	return json.Unmarshal([]byte(text), r)
}

// Passkey returns the account's rule.
func (a *Account) Passkey() PasskeyRule {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.passkey
}

// SetPasskey sets the account's rule.
func (a *Account) SetPasskey(rule PasskeyRule) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.passkey = rule
}
