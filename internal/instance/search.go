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
const maxSearched = 50_000

// Search returns those of the instances that the key may use in whose name, id, number or
// profile name the text occurs, oldest first. Upper and lower case are the same, and so are
// the ways to write a number. Without a text it returns what List does.
func (s *Service) Search(
	ctx context.Context, key gateway.Key, text string, page gateway.PageRequest,
) (gateway.Page[gateway.Instance], error) {
	if gateway.CleanName(text) == "" {
		return s.List(ctx, key, page)
	}
	found, err := s.Outlines(ctx, key, text)
	if err != nil {
		return gateway.Page[gateway.Instance]{}, err
	}
	outlined := gateway.PageOf(found, page)
	whole, err := s.Some(ctx, key, idsOf(outlined.Items))
	return gateway.Page[gateway.Instance]{Items: whole, Total: outlined.Total}, err
}

// Outlines returns those that Search finds, all at once, and of each what a list is sorted and counted
// by: id, name, status with reason and since when, number and name of the account. Without a text
// they are all that the key may use.
func (s *Service) Outlines(ctx context.Context, key gateway.Key, text string) ([]gateway.Instance, error) {
	all, err := s.sessions.config.Store.InstanceOutlines(ctx, key.AccountID, key.InstanceIDs, maxSearched)
	if err != nil {
		return nil, fmt.Errorf("instance: search: %w", err)
	}
	if text = strings.ToLower(gateway.CleanName(text)); text != "" {
		// They are compared here, because the databases differ in what is upper and lower case.
		number := numberIn(text)
		all = slices.DeleteFunc(all, func(i gateway.Instance) bool {
			return !strings.Contains(strings.ToLower(i.Name), text) && !strings.Contains(i.ID, text) &&
				!strings.Contains(strings.ToLower(i.Profile.Name), text) &&
				(number == "" || !strings.Contains(i.Profile.JID.User(), number))
		})
	}
	return all, s.sessions.correct(ctx, all)
}

func idsOf(instances []gateway.Instance) []string {
	ids := make([]string, len(instances))
	for n, one := range instances {
		ids[n] = one.ID
	}
	return ids
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
