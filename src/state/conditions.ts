// Conditions on rows of `file`, in SQL.

/** An empty file that expires is in its place. One whose removal was begun and not answered may still be there. */
export const IS_PUT_AWAY = "state = 'removing' AND expires_at IS NOT NULL";

/** The last attempt to remove it failed. */
export const REMOVAL_FAILED = "state = 'removing' AND failure IS NOT NULL AND absence = 'removed'";

/** Removed locally, on the platform by us, or perhaps, and not put away yet. */
export const REMOVAL_IS_DUE = `absence = 'removed' AND (uploaded = 1 OR state = 'sending') AND NOT (${IS_PUT_AWAY})`;

/** Something of it may still arrive that another host sent. */
export const IS_SUSPECT =
  'EXISTS (SELECT 1 FROM suspect WHERE suspect.target = file.target AND suspect.key = file.key)';
