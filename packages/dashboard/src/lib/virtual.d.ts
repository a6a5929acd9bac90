/** Address of the file of flags: one symbol a country, by its code. Made by the build (vite.config.ts). */
declare module 'virtual:flags' {
  const address: string
  export default address
}
