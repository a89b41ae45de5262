-- This number belongs to another change, whose migration takes the place of this file.
SELECT 1;
