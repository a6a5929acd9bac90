import 'react'

/* A style may set properties of our own, which React passes on as they are. */
declare module 'react' {
  interface CSSProperties {
    [name: `--${string}`]: string | number | undefined
  }
}
