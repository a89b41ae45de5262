package account

import (
	"maps"
	"slices"
	"time"
)

// Phone is a simulated handset as the control API shows it.
type Phone struct {
	Number         string `json:"number"`
	JID            string `json:"jid"` // a chat ID by number
	LID            string `json:"lid"` // a chat ID by LID
	Name           string `json:"name"`
	Registered     bool   `json:"registered"`
	Online         bool   `json:"online"`
	Devices        []int  `json:"devices"` // the linked ones, without the phone itself
	ProfilePicture bool   `json:"profilePicture"`
	Passkey        bool   `json:"passkey"` // it is asked for when a device is linked

	About    string            `json:"about"`
	Username string            `json:"username"` // empty if it has none
	Privacy  map[string]string `json:"privacy"`  // what it has chosen, by setting, as the platform names both
	Blocked  []string          `json:"blocked"`  // numbers

	LinkedDevices []LinkedDevice `json:"linkedDevices"` // the same ones, as the phone lists them

	// The control API leaves these out.
	Connected       int       `json:"-"` // how many of the devices are connected
	PictureID       string    `json:"-"` // the hash of the picture's file, "" for none
	HidesNumber     bool      `json:"-"` // its messages do not name its number
	BannedForGood   bool      `json:"-"`
	BannedUntil     time.Time `json:"-"` // zero, or in the past, if it is not banned for a time
	RestrictedUntil time.Time `json:"-"` // until then it may not write to new contacts

	PasskeyRule PasskeyRule `json:"-"` // the whole rule of Passkey
}

// LinkedDevice is a linked device as its phone lists it.
type LinkedDevice struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"` // as the platform calls it: DESKTOP, CHROME and so on
}

// Show returns the phone as the control API shows it.
func (a *Account) Show() Phone {
	devices, shownDevices, connected := []int{}, []LinkedDevice{}, 0
	for _, linked := range a.Companions() {
		devices = append(devices, int(linked.ID))
		shownDevices = append(shownDevices, LinkedDevice{ID: int(linked.ID), Name: linked.Name, Kind: linked.Kind})
		if linked.Conn.Load() != nil {
			connected++
		}
	}
	blocked := append([]string{}, a.BlockedNumbers()...)
	settings, _ := PrivacyChoices()
	privacy := make(map[string]string, len(settings))
	for _, setting := range settings {
		privacy[setting] = a.Choice(setting)
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	shown := Phone{
		About: a.about, Username: a.username, Privacy: privacy, Blocked: blocked,
		Number: a.Number, JID: a.PN().String(), LID: a.LIDJID().String(), Name: a.name,
		Registered: a.registered, Online: a.online, Devices: devices, LinkedDevices: shownDevices, ProfilePicture: a.picture != "",
		Connected: connected, PictureID: a.picture, HidesNumber: a.numberHidden, Passkey: a.passkey.Needed, PasskeyRule: a.passkey, BannedForGood: a.bannedUntil == BannedForGood,
	}
	if a.bannedUntil > 0 {
		shown.BannedUntil = time.UnixMilli(a.bannedUntil)
	}
	if a.restrictedUntil > 0 {
		shown.RestrictedUntil = time.UnixMilli(a.restrictedUntil)
	}
	return shown
}

// DisplayName returns the name that the account gives itself.
func (a *Account) DisplayName() string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.name
}

// IsRegistered reports whether the number is registered on the platform. Each
// number has an account here, also one that is not registered.
func (a *Account) IsRegistered() bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.registered
}

// IsOnline reports whether the account's phone is online.
func (a *Account) IsOnline() bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.online
}

// Blocks reports whether the account has blocked the other one.
func (a *Account) Blocks(other *Account) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, blocked := a.blocked[other.Number]
	return blocked
}

// Ban reports whether the account is banned at now, and for how long from then on.
// A ban with no time left never ends.
func (a *Account) Ban(now time.Time) (left time.Duration, banned bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.bannedUntil == BannedForGood {
		return 0, true
	}
	left = time.UnixMilli(a.bannedUntil).Sub(now)
	return left, left > 0
}

// IsRestricted reports whether the account may not write to new contacts.
func (a *Account) IsRestricted(now time.Time) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return time.UnixMilli(a.restrictedUntil).After(now)
}

// PictureID returns the hash of the profile picture's file, "" for none.
func (a *Account) PictureID() string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.picture
}

// SetBan sets the end of a ban, in Unix milliseconds; 0 lifts it. Like the other
// setters it changes only the copy in memory, after the database.
func (a *Account) SetBan(until int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bannedUntil = until
}

// SetRestriction sets until when the account may not write to new contacts, in Unix
// milliseconds.
func (a *Account) SetRestriction(until int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.restrictedUntil = until
}

// SetName sets the name that the account gives itself.
func (a *Account) SetName(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.name = name
}

// AboutText returns what the account says about itself.
func (a *Account) AboutText() string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.about
}

// SetAbout sets what the account says about itself.
func (a *Account) SetAbout(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.about = text
}

// Username returns the name by which others find the account without its number; empty if it has
// none.
func (a *Account) Username() string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.username
}

// SetUsername sets that name, "" for none.
func (a *Account) SetUsername(username string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.username = username
}

// SetPicture sets the hash of the profile picture's file, "" for none.
func (a *Account) SetPicture(hash string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.picture = hash
}

// SetSwitches sets the switches that are not nil.
func (a *Account) SetSwitches(registered, online, hideNumber *bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if registered != nil {
		a.registered = *registered
	}
	if online != nil {
		a.online = *online
	}
	if hideNumber != nil {
		a.numberHidden = *hideNumber
	}
}

// MadeUpHistory returns the history that new devices get besides the real one.
func (a *Account) MadeUpHistory() MadeUpHistory {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.filler
}

// SetMadeUpHistory sets the history that new devices get besides the real one.
func (a *Account) SetMadeUpHistory(filler MadeUpHistory) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.filler = filler
}

// BlockedNumbers returns the numbers that the account has blocked, sorted.
func (a *Account) BlockedNumbers() []string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Sorted(maps.Keys(a.blocked))
}

// SetBlocked blocks a number, or lifts the block.
func (a *Account) SetBlocked(number string, blocked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if blocked {
		a.blocked[number] = struct{}{}
	} else {
		delete(a.blocked, number)
	}
}
