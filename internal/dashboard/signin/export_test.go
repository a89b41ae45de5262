package signin

import "github.com/recado-project/recado/internal/dashboard/frame"

// Routes is the table of the door's own pages.
func (d *Door) Routes() []frame.Route { return d.routes() }
