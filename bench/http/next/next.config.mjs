// Nobody asks for compressed pages here, so that it costs nobody anything.
export default { compress: false, poweredByHeader: false, typescript: { ignoreBuildErrors: true } }
