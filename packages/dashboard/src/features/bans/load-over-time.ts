/** The chart is a chunk of its own. */
export const loadOverTime = () => import('./over-time.tsx').then(({ OverTime }) => OverTime)
