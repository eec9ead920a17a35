# view.cmake - the viewer within the program `cairn`: the server, where libmicrohttpd is installed, and the
# page, where `make viewer` has built it. If either is missing, the program says what to install.
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/view)
target_sources(cairn_program PRIVATE
  ${folder}/show.c ${folder}/package.c ${folder}/table.c ${folder}/film.c
  ${folder}/gltf.c ${folder}/vtkhdf.c ${folder}/shelf.c)
target_link_libraries(cairn_program PRIVATE ZLIB::ZLIB hdf5::hdf5)
target_include_directories(cairn_program PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${folder})

pkg_check_modules(MICROHTTPD QUIET IMPORTED_TARGET libmicrohttpd)
if(MICROHTTPD_FOUND)
  target_sources(cairn_program PRIVATE ${folder}/server.c)
  target_link_libraries(cairn_program PRIVATE PkgConfig::MICROHTTPD Threads::Threads)
else()
  target_sources(cairn_program PRIVATE ${folder}/server_absent.c)
endif()

# checked at every build
file(GLOB page CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/build/viewer/view.html.gz)
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/view_page.c)
add_custom_command(OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DIN=${page} -DOUT=${embedded} -P ${folder}/embed.cmake
  DEPENDS ${page} ${folder}/embed.cmake
  COMMENT "Embedding the page of the viewer")
target_sources(cairn_program PRIVATE ${embedded})
