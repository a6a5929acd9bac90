/** Builds the dashboard into `dist`, as the server serves it. */
export declare function buildDashboard(): Promise<void>
