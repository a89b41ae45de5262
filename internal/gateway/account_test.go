package gateway_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestKeyReaches(t *testing.T) {
	t.Parallel()
	instance := gateway.Instance{ID: "one", AccountID: "shop"}
	tests := map[string]struct {
		key  gateway.Key
		want bool
	}{
		"whole account":     {gateway.Key{AccountID: "shop"}, true},
		"named":             {gateway.Key{AccountID: "shop", InstanceIDs: []string{"two", "one"}}, true},
		"another is named":  {gateway.Key{AccountID: "shop", InstanceIDs: []string{"two"}}, false},
		"another account":   {gateway.Key{AccountID: "clinic"}, false},
		"named but foreign": {gateway.Key{AccountID: "clinic", InstanceIDs: []string{"one"}}, false},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.key.InScope(instance); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestKeyValid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		key  gateway.Key
		want bool
	}{
		"for ever":       {gateway.Key{}, true},
		"not yet ended":  {gateway.Key{ExpiresAt: now.Add(time.Millisecond)}, true},
		"ends now":       {gateway.Key{ExpiresAt: now}, false},
		"revoked":        {gateway.Key{RevokedAt: now.Add(-time.Hour)}, false},
		"revoked, valid": {gateway.Key{RevokedAt: now, ExpiresAt: now.Add(time.Hour)}, false},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.key.Valid(now); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestKeyCovers(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 12, 0, 0, 0, time.UTC) }
	partner := func(change func(*gateway.Key)) gateway.Key {
		key := gateway.Key{AccountID: "shop", Partner: true}
		if change != nil {
			change(&key)
		}
		return key
	}
	reaching := func(ids ...string) gateway.Key { return partner(func(k *gateway.Key) { k.InstanceIDs = ids }) }
	ending := func(n int) gateway.Key { return partner(func(k *gateway.Key) { k.ExpiresAt = day(n) }) }
	revoked := func(n int) gateway.Key { return partner(func(k *gateway.Key) { k.RevokedAt = day(n) }) }
	for name, c := range cases.Sorted(map[string]struct {
		key, other gateway.Key
		want       bool
	}{
		"everything":                {partner(nil), partner(nil), true},
		"certain instances":         {partner(nil), reaching("one"), true},
		"one that ends":             {partner(nil), ending(1), true},
		"another account":           {partner(nil), gateway.Key{AccountID: "clinic"}, false},
		"the same instances":        {reaching("one", "two"), reaching("two", "one"), true},
		"fewer instances":           {reaching("one", "two"), reaching("two"), true},
		"another instance":          {reaching("one", "two"), reaching("two", "three"), false},
		"all instances":             {reaching("one"), partner(nil), false},
		"the same end":              {ending(2), ending(2), true},
		"an earlier end":            {ending(2), ending(1), true},
		"a later end":               {ending(2), ending(3), false},
		"no end":                    {ending(2), partner(nil), false},
		"one that was revoked":      {ending(2), revoked(1), true},
		"one that was revoked late": {ending(2), revoked(3), false},
		"an ordinary one":           {partner(nil), gateway.Key{AccountID: "shop"}, true},
		"a partner key of another":  {gateway.Key{AccountID: "shop"}, partner(nil), false},
	}) {
		if got := c.key.Covers(c.other); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
