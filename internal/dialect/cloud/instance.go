// Who is meant by an ID.

package cloud

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
)

// maxNumbers bounds how many numbers are remembered.
const maxNumbers = 10_000

// numbers remembers which instance was found under a number, by key and number, so that not all instances
// are listed for every message. What it says is looked at again before it is used.
type numbers struct {
	lock  sync.Mutex
	found map[string]string
}

func (n *numbers) get(name string) string {
	n.lock.Lock()
	defer n.lock.Unlock()
	return n.found[name]
}

func (n *numbers) put(name, instanceID string) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.found == nil || len(n.found) >= maxNumbers {
		n.found = map[string]string{}
	}
	n.found[name] = instanceID
}

// byInstance reports whether the path names the UUID of an instance, and not the number of its account.
func (c *call) byInstance() bool {
	_, err := uuid.Parse(c.id)
	return err == nil
}

// findInstance finds the instance of the ID in the path: its UUID, or the number of its account, with
// or without a plus.
func (c *call) findInstance(key string) (client.Instance, error) {
	if c.byInstance() {
		found, err := c.api.GetInstance(c.http.Context(), c.id)
		if client.IsCode(err, client.CodeInstanceNotFound) || client.IsCode(err, client.CodeForbidden) {
			return client.Instance{}, noSuchObject(c.id)
		}
		return found, err
	}
	number := strings.TrimPrefix(c.id, "+")
	name := hashed(key) + " " + number
	if id := c.cloud.numbers.get(name); id != "" {
		found, err := c.api.GetInstance(c.http.Context(), id)
		if err == nil && found.MessengerID == number && found.Status == client.StatusConnected {
			return found, nil
		}
		if refused, ok := errors.AsType[*client.Error](err); ok && refused.StatusCode == http.StatusUnauthorized {
			return client.Instance{}, err
		}
	}
	var best client.Instance
	for each, err := range c.api.Instances(c.http.Context(), client.ListInstancesParams{}) {
		if err != nil {
			return client.Instance{}, err
		}
		if each.MessengerID != number || number == "" {
			continue
		}
		// An account may be linked more than once.
		if best.InstanceID == "" || best.Status != client.StatusConnected {
			best = each
		}
		if best.Status == client.StatusConnected {
			break
		}
	}
	if best.InstanceID == "" {
		return client.Instance{}, noSuchObject(c.id)
	}
	c.cloud.numbers.put(name, best.InstanceID)
	return best, nil
}

// phoneNumber is a number as Meta's API shows it.
type phoneNumber struct {
	ID           string     `json:"id"`
	Display      string     `json:"display_phone_number"`
	Name         string     `json:"verified_name"`
	Verification string     `json:"code_verification_status"`
	Quality      string     `json:"quality_rating"`
	Platform     string     `json:"platform_type"`
	Throughput   throughput `json:"throughput"`
	Status       string     `json:"status"`
}

type throughput struct {
	Level string `json:"level"`
}

// newPhoneNumber makes the number of an instance, under an ID.
func newPhoneNumber(of client.Instance, id string) phoneNumber {
	shown := phoneNumber{
		ID: id, Name: of.MessengerName, Verification: "NOT_VERIFIED", Quality: "GREEN", Platform: "CLOUD_API",
		Throughput: throughput{Level: "STANDARD"}, Status: "DISCONNECTED",
	}
	if shown.Name == "" {
		shown.Name = of.Name
	}
	if of.MessengerID != "" {
		shown.Display, shown.Verification = "+"+of.MessengerID, "VERIFIED"
	}
	if of.Status == client.StatusConnected {
		shown.Status = "CONNECTED"
	}
	return shown
}

// node answers what an ID stands for.
func node(c *call) (any, error) { return newPhoneNumber(c.instance, c.id), nil }

// phoneNumbers lists the number of a business account, under the ID that webhooks give it which are made with an ID of
// the same form.
func phoneNumbers(c *call) (any, error) {
	id := c.instance.MessengerID
	if id == "" || c.byInstance() {
		id = c.instance.InstanceID
	}
	return pageOf(newPhoneNumber(c.instance, id)), nil
}

// registered says that a number is registered, or not any more: linking and unlinking are the
// gateway's.
func registered(*call) (any, error) { return success{true}, nil }
