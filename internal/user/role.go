// Roles that change, and users who leave.

package user

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
)

// SetRole changes the role of a user of the actor's account; the user's next request has
// it. Its error is Forbidden for all but owners, Invalid for an unknown role, NotFound if
// there is no such user, and Conflict for the last owner.
func (s *Service) SetRole(ctx context.Context, actor Actor, id string, role gateway.Role) error {
	if err := checkRole(role); err != nil {
		return err
	}
	user, err := s.ownersFind(ctx, actor, id)
	if err != nil || user.Role == role {
		return err
	}
	if err := s.store.SetUserRole(ctx, actor.AccountID, id, role); err != nil {
		return err
	}
	s.endOf(id)
	s.Record(ctx, actor, ActionRoleChanged, user.Name, string(role))
	return nil
}

// Delete removes a user of the actor's account, whose next request is a stranger's. Its
// error is Forbidden for all but owners, NotFound if there is no such user, and Conflict for
// the last owner.
func (s *Service) Delete(ctx context.Context, actor Actor, id string) error {
	user, err := s.ownersFind(ctx, actor, id)
	if err != nil {
		return err
	}
	if err := s.store.DeleteUser(ctx, actor.AccountID, id); err != nil {
		return err
	}
	s.endOf(id)
	s.Record(ctx, actor, ActionUserDeleted, user.Name, "")
	return nil
}

// ownersFind finds a user of the actor's account for an owner.
func (s *Service) ownersFind(ctx context.Context, actor Actor, id string) (gateway.User, error) {
	if err := actor.Need(gateway.RoleOwner); err != nil {
		return gateway.User{}, err
	}
	return s.find(ctx, actor, id)
}
