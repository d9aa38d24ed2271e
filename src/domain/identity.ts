/** The identity that requests act for (interface.md, Authentication 3). Part of what a record belongs to. */
export interface Identity {
  readonly integrationId?: string;
  readonly integrationAlias?: string;
  readonly integrationName?: string;
  readonly userId?: string;
  readonly userRole?: string;
}
