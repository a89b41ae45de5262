// Business accounts.

package account

import "encoding/json"

// Business is what a business account says of itself.
type Business struct {
	Address    string          `json:"address"`
	Email      string          `json:"email"`
	Categories []string        `json:"categories"`
	TimeZone   string          `json:"timeZone"`
	Hours      []BusinessHours `json:"hours"`
}

// BusinessHours is when a business is open on a day, in the platform's words.
type BusinessHours struct {
	Day    string `json:"day"`
	Mode   string `json:"mode"`
	Opens  string `json:"opens"`
	Closes string `json:"closes"`
}

func parseBusiness(text string) (business *Business, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &business)
	}
	return business, err
}

// Business returns what the account says of itself as a business; nil if it is none. Nobody
// changes it.
func (a *Account) Business() *Business {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.business
}

// SetBusiness makes the account a business, or an ordinary one.
func (a *Account) SetBusiness(business *Business) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.business = business
}
