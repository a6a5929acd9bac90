import type { Core, Feature } from '../feature.ts'
import { withDemoPlaces } from './demo.ts'
import { createIpInfo } from './ipinfo.service.ts'
import type { IpInfo } from './ipinfo.service.ts'

export const ipinfoFeature = ({ config, log }: Core): Feature<IpInfo> => {
  const { geoipCity, geoipAsn, dataDir } = config
  const files = createIpInfo({ cityFile: geoipCity, asnFile: geoipAsn, dataDir, log })
  const service = config.demo ? withDemoPlaces(files) : files
  return { service, close: () => service.close() }
}
