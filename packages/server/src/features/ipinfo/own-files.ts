import { join } from 'node:path'

/** Where `stockade geoip update` puts what it fetched, and where the server looks when no file is configured. */
export const ownCityFile = (dataDir: string): string => join(dataDir, 'geoip-city.mmdb')
export const ownNetworkFile = (dataDir: string): string => join(dataDir, 'geoip-asn.mmdb')
