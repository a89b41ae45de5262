package instance

import "time"

// SetLogoutWait sets the patience with the platform. No logout may be under way.
func (s *Service) SetLogoutWait(wait time.Duration) { s.logoutWait = wait }
