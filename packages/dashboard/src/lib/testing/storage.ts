/** Node has no storage of its own without a file: this is one with the browser's behaviour. */
export const storageOf = (): Storage => {
  const valueByKey = new Map<string, string>()
  return {
    get length() {
      return valueByKey.size
    },
    key: index => [...valueByKey.keys()][index] ?? null,
    getItem: key => valueByKey.get(key) ?? null,
    setItem: (key, value) => void valueByKey.set(key, value),
    removeItem: key => void valueByKey.delete(key),
    clear: () => valueByKey.clear(),
  }
}
