package access

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
)

// ListKeysWithin returns those keys of the account that own covers, oldest first:
// that reach nothing beyond it and end no later.
func (s *Service) ListKeysWithin(ctx context.Context, own gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Key], error) {
	if len(own.InstanceIDs) == 0 && own.ExpiresAt.IsZero() {
		return s.store.ListKeys(ctx, own.AccountID, page)
	}
	const slice = 500
	var within gateway.Page[gateway.Key]
	for request := (gateway.PageRequest{Page: 1, Limit: slice}); ; request.Page++ {
		all, err := s.store.ListKeys(ctx, own.AccountID, request)
		if err != nil {
			return gateway.Page[gateway.Key]{}, err
		}
		for _, key := range all.Items {
			if !own.Covers(key) {
				continue
			}
			if within.Total >= page.Offset() && len(within.Items) < page.Limit {
				within.Items = append(within.Items, key)
			}
			within.Total++
		}
		if len(all.Items) < slice {
			return within, nil
		}
	}
}

// RevokeKeyWithin ends a key of the account at once, if own covers it. Its error is
// NotFound for every other key: what a key can't list does not exist for it.
func (s *Service) RevokeKeyWithin(ctx context.Context, own gateway.Key, id string) error {
	key, found, err := s.store.GetKey(ctx, own.AccountID, id)
	if err != nil {
		return err
	}
	if !found || !own.Covers(key) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such API key")
	}
	return s.RevokeKey(ctx, own.AccountID, id)
}
