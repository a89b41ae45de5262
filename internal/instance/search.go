// Instances are found by what people know of them.

package instance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// maxSearched is how many instances of an account are searched, the oldest.
const maxSearched = 10_000

// Search returns those of the instances that the key may use in whose name, id, number or
// profile name the text occurs, oldest first. Upper and lower case are the same, and so are
// the ways to write a number. Without a text it returns what List does.
func (s *Service) Search(
	ctx context.Context, key gateway.Key, text string, page gateway.PageRequest,
) (gateway.Page[gateway.Instance], error) {
	text = strings.ToLower(gateway.CleanName(text))
	if text == "" {
		return s.List(ctx, key, page)
	}
	// They are compared here, because the databases differ in what is upper and lower case.
	all, err := s.sessions.config.Store.ListInstances(ctx, key.AccountID, key.InstanceIDs, gateway.PageRequest{Page: 1, Limit: maxSearched})
	if err != nil {
		return gateway.Page[gateway.Instance]{}, fmt.Errorf("instance: search: %w", err)
	}
	number := numberIn(text)
	found := slices.DeleteFunc(all.Items, func(i gateway.Instance) bool {
		return !strings.Contains(strings.ToLower(i.Name), text) && !strings.Contains(i.ID, text) &&
			!strings.Contains(strings.ToLower(i.Profile.Name), text) &&
			(number == "" || !strings.Contains(i.Profile.JID.User(), number))
	})
	result := gateway.PageOf(found, page)
	return result, s.sessions.correct(ctx, result.Items)
}

// numberIn returns a text without what people write between the digits of a number.
func numberIn(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("+-(). ", r) {
			return -1
		}
		return r
	}, text)
}

// Some returns those of the instances with the ids that the key may use, oldest first.
func (s *Service) Some(ctx context.Context, key gateway.Key, ids []string) ([]gateway.Instance, error) {
	if len(key.InstanceIDs) > 0 {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(key.InstanceIDs, id) })
	}
	if len(ids) == 0 {
		return nil, nil
	}
	some, err := s.sessions.config.Store.ListInstances(ctx, key.AccountID, ids, gateway.PageRequest{Page: 1, Limit: len(ids)})
	if err != nil {
		return nil, fmt.Errorf("instance: find some: %w", err)
	}
	return some.Items, s.sessions.correct(ctx, some.Items)
}
